# Completion of pas for fish. Use it with:  pas completion fish > ~/.config/fish/completions/pas.fish

function __pas_complete
    set -l typed (commandline -opc)
    set -e typed[1]
    for line in (pas __complete -- $typed (commandline -ct) 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path (commandline -ct)
            case ':folders*'
                __fish_complete_directories (commandline -ct)
            case '*'
                echo $line
        end
    end
end

complete -c pas -f -a '(__pas_complete)'
