package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" choices:"bash, zsh, fish or pwsh" help:"bash, zsh, fish or pwsh"`
}

// Run prints the script of a shell: it asks the program for the words that may follow.
func (completionCommand *completionCommand) Run(console *console) error {
	return console.print(completionCommand.Shell, nil)
}

// complete prints the words that may stand at the end of a line.
func complete(writer io.Writer, model *kong.Application, line string) error {
	begun := line[strings.LastIndex(line, " ")+1:]
	node := model.Node
	for word := range strings.FieldsSeq(line) {
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
	for _, flag := range slices.Concat(node.AllFlags(true)...) {
		offer("--" + flag.Name)
	}
	return nil
}
