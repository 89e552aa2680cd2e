# Completion of pas for fish. Use it with:  pas completion fish > ~/.config/fish/completions/pas.fish

function __pas_complete
    set -l typed (commandline -opc)
    set -e typed[1]
    set -l candidates (pas __complete -- $typed (commandline -ct) 2>/dev/null)
    if test (count $candidates) -gt 0
        printf '%s\n' $candidates
    else
        __fish_complete_path (commandline -ct)
    end
end

complete -c pas -f -a '(__pas_complete)'
