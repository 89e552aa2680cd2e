#compdef pas
# Completion of pas for zsh. Use it with:  source <(pas completion zsh)
# or save it as _pas in a folder of $fpath.

_pas() {
  local word summary
  local -a described
  while IFS=$'\t' read -r word summary; do
    described+=("${word}${summary:+:$summary}")
  done < <(pas __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  if (( $#described )); then _describe 'pas' described; else _files; fi
}

if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _pas "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _pas pas
fi
