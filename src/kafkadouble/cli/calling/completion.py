"""Scripts that complete the words of `kafkadouble ctl` in a shell. Each one has the verbs and
options of the registry in it, so that nothing runs while a person types."""

from __future__ import annotations

from .verbs import EVENTS, usable

OPTIONS = ("--url", "--token", "--json", "--completion", "--help")

_BASH = """\
_kafkadouble_ctl() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} verb= each
  [ "${{COMP_WORDS[1]}}" = ctl ] || return 0
  for each in "${{COMP_WORDS[@]:2:COMP_CWORD-2}}"; do
    case $each in {verbs}) verb=${{each//-/_}}; break ;; esac
  done
  case $verb in
    "") COMPREPLY=($(compgen -W "{words} {options}" -- "$word")) ;;
{cases}
  esac
}}
complete -o default -F _kafkadouble_ctl kafkadouble"""


def script(shell: str) -> str:
    """The script for bash, zsh or fish."""
    return (
        _fish()
        if shell == "fish"
        else ("autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else "") + _bash()
    )


def _options_of() -> dict[str, list[str]]:
    found = {
        verb.name: [f"--{name.replace('_', '-')}" for name, each in verb.parameters.items() if each.schema is not None]
        for verb in usable()
    }
    return {**found, EVENTS: []}


def _bash() -> str:
    verbs = _options_of()
    cases = "\n".join(
        f'    {name}) COMPREPLY=($(compgen -W "{" ".join(options)} --help" -- "$word")) ;;'
        for name, options in verbs.items()
    )
    return _BASH.format(verbs="|".join(verbs), words=" ".join(verbs), options=" ".join(OPTIONS), cases=cases)


def _fish() -> str:
    is_ctl, lines = "__fish_seen_subcommand_from ctl", []
    for name, options in _options_of().items():
        lines.append(f"complete -c kafkadouble -n '{is_ctl}' -a {name}")
        lines += [
            f"complete -c kafkadouble -n '__fish_seen_subcommand_from {name}' -l {option.removeprefix('--')} -r"
            for option in options
        ]
    return "\n".join(lines)
