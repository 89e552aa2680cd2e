# Completion of pas for bash. Use it with:  source <(pas completion bash)

_pas() {
  local word
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    COMPREPLY+=("$word")
  done < <(pas __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}

# Without candidates bash completes file names.
complete -o default -F _pas pas
