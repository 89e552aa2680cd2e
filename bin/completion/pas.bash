# Completion of pas for bash. Use it with:  source <(pas completion bash)

_pas() {
  local word paths=''
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    case $word in
      :files | :folders) paths=$word ;;
      *)
        # Names may hold what the shell would take for its own.
        if [[ $word == *[[:space:]\'\"\\\$\&\;\(\)\<\>\|\*\?\[\]\#\~\`\!\{\}]* ]]; then printf -v word %q "$word"; fi
        COMPREPLY+=("$word")
        ;;
    esac
  done < <(pas __complete --line "$COMP_LINE" --point "$COMP_POINT" --breaks "$COMP_WORDBREAKS" 2>/dev/null)
  if [[ -n $paths ]]; then
    local kind=-f path
    [[ $paths == :folders ]] && kind=-d
    compopt -o filenames 2>/dev/null
    while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$kind" -- "${COMP_WORDS[COMP_CWORD]}")
  fi
}

complete -F _pas pas
