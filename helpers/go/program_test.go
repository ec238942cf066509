package kafkadouble_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	kafkadouble "github.com/kafkadouble/kafkadouble/helpers/go"
)

// program writes a program that says how it was called, and fails.
func program(t *testing.T, folder, name string) {
	t.Helper()
	check(t, os.MkdirAll(folder, 0o755))
	check(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\necho \"$0 $*\" >&2\nexit 1\n"), 0o755))
}

func TestTheProgramIsFoundWhereInstallersPutIt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are scripts of a shell")
	}
	path, home := t.TempDir(), t.TempDir()
	own := filepath.Join(home, ".local", "bin")
	t.Setenv("KAFKADOUBLE", "")
	t.Setenv("PATH", path)
	t.Setenv("HOME", home)
	for _, step := range []struct{ folder, name, called string }{
		{"", "", "uv tool install 'kafkadouble[control]'"},
		{own, "uvx", filepath.Join(own, "uvx") + " --from kafkadouble[control] kafkadouble serve"},
		{path, "uvx", filepath.Join(path, "uvx") + " --from kafkadouble[control] kafkadouble serve"},
		{own, "kafkadouble", filepath.Join(own, "kafkadouble") + " serve"},
		{path, "kafkadouble", filepath.Join(path, "kafkadouble") + " serve"},
	} {
		if step.name != "" {
			program(t, step.folder, step.name)
		}
		_, err := kafkadouble.Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), step.called) {
			t.Fatalf("%v has not %q", err, step.called)
		}
	}
}
