#compdef pas
# Completion of pas for zsh. Use it with:  source <(pas completion zsh)
# or save it as _pas in a folder of $fpath.

_pas() {
  local word summary paths=''
  local -a described
  while IFS=$'\t' read -r word summary; do
    case $word in
      :files | :folders) paths=$word ;;
      *) described+=("${word//:/\\:}${summary:+:$summary}") ;;
    esac
  done < <(pas __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#described )) && _describe 'pas' described
  case $paths in
    :files) _files ;;
    :folders) _files -/ ;;
  esac
}

if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _pas "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _pas pas
fi
