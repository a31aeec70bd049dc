package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// completions are scripts for shells: each asks the program for the words that may follow.
var completions = map[string]string{
	"bash": "complete -C 'daybook completion bash' daybook\n",
	"zsh":  "autoload -U +X bashcompinit && bashcompinit\ncomplete -C 'daybook completion bash' daybook\n",
	"fish": "complete -c daybook -f -a '(COMP_LINE=(commandline -cp) daybook completion fish)'\n",
	"pwsh": "Register-ArgumentCompleter -Native -CommandName daybook -ScriptBlock {\n" +
		"  param($word, $line, $cursor)\n  $env:COMP_LINE = $line.ToString().PadRight($cursor)\n" +
		"  daybook completion pwsh\n  Remove-Item Env:COMP_LINE\n}\n",
}

type completionCommand struct {
	Shell string `arg:"" choices:"bash,zsh,fish,pwsh" help:"bash, zsh, fish or pwsh"`
}

// Run prints the script of a shell.
func (cmd *completionCommand) Run(console *console) error {
	_, err := fmt.Fprint(console.out, completions[cmd.Shell])
	return err
}

// complete prints the words that may stand at the end of a line.
func complete(writer io.Writer, model *kong.Application, line string) error {
	words := strings.Fields(line)
	begun := ""
	if len(words) > 0 && !strings.HasSuffix(line, " ") {
		begun = words[len(words)-1]
	}
	node := model.Node
	for _, word := range words {
		for _, child := range node.Children {
			if child.Name == word && child.Name != begun {
				node = child
			}
		}
	}
	offer := func(word string) {
		if strings.HasPrefix(word, begun) {
			fmt.Fprintln(writer, word)
		}
	}
	for _, child := range node.Children {
		offer(child.Name)
	}
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			offer("--" + flag.Name)
		}
	}
	return nil
}
