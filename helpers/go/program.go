package kafkadouble

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

const (
	programVariable = "KAFKADOUBLE"
	programName     = "kafkadouble"
	extra           = "kafkadouble[control]"
	howToInstall    = "install it with `uv tool install '" + extra + "'` or `pip install '" + extra + "'`, " +
		"install uv, which then runs it, or give its path in the environment variable " + programVariable
)

// words returns the words that start the program. In this order: WithProgram, the environment
// variable, the PATH, where `uv tool install` and `pipx install` put programs, and at last uv's
// `uvx`, which gets and runs it without an installation.
func (o *options) words() ([]string, error) {
	if o.program != "" {
		return given(o.program, "WithProgram")
	}
	if name := os.Getenv(programVariable); name != "" {
		return given(name, "the environment variable "+programVariable)
	}
	if path, found := look(programName); found {
		return []string{path}, nil
	}
	if path, found := look("uvx"); found {
		return []string{path, "--from", extra, programName}, nil
	}
	return nil, notFound(programName, "the PATH")
}

func given(name, source string) ([]string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, notFound(name, source)
	}
	return []string{path}, nil
}

func notFound(name, source string) error {
	return &StartError{Message: fmt.Sprintf("the program %s of %s was not found: %s", name, source, howToInstall)}
}

// look finds a program on the PATH, or in the folder of a user's programs.
func look(name string) (string, bool) {
	if path, err := exec.LookPath(name); err == nil {
		return path, true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", false
	}
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path, err := exec.LookPath(filepath.Join(home, ".local", "bin", name))
	return path, err == nil
}
