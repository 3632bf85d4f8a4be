/// Scripts that make a shell ask the program itself what could come next: they know no command, so they
/// are as new as the program.
///
/// The program answers `complete-words -- WORD...` with one line for what the shell adds (`:none`,
/// `:files`, `:directories`) and one line for each candidate: the word, a tab and what it is.
public enum CompletionScript: String, CaseIterable, Sendable {
  case bash, zsh, fish

  public func text(program: String) -> String {
    let template =
      switch self {
      case .bash: Self.bashText
      case .zsh: Self.zshText
      case .fish: Self.fishText
      }
    return template.split(separator: "PROGRAM", omittingEmptySubsequences: false)
      .joined(separator: program)
  }

  private static let bashText = #"""
    # In ~/.bashrc:  eval "$(PROGRAM completions bash)"
    _PROGRAM() {
      local line kind= candidate quoted
      local words=("${COMP_WORDS[@]:1:COMP_CWORD}")
      local word=${COMP_WORDS[COMP_CWORD]}
      local plain=${word#[\"\']}
      words[COMP_CWORD - 1]=${plain//\\/}
      COMPREPLY=()
      while IFS= read -r line; do
        if [[ -z $kind ]]; then
          kind=$line
          continue
        fi
        candidate=${line%%$'\t'*}
        if [[ $word == [\"\']* ]]; then
          quoted=$candidate
        else
          printf -v quoted %q "$candidate"
        fi
        COMPREPLY+=("$quoted")
      done < <("${COMP_WORDS[0]}" complete-words -- "${words[@]}" 2>/dev/null)
      [[ $word == '=' ]] && word=
      case $kind in
        :files) compopt -o filenames; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word") ;;
        :directories) compopt -o filenames; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$word") ;;
      esac
    }
    complete -F _PROGRAM PROGRAM

    """#

  private static let zshText = #"""
    #compdef PROGRAM
    # In ~/.zshrc, behind compinit:  eval "$(PROGRAM completions zsh)"
    _PROGRAM() {
      local -a lines texts shown
      local line kind
      lines=("${(@f)$(${words[1]} complete-words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
      kind=$lines[1]
      for line in $lines[2,-1]; do
        texts+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  -- }")
      done
      (( $#texts )) && compadd -l -d shown -a texts
      case $kind in
        :files) _files ;;
        :directories) _files -/ ;;
      esac
    }
    compdef _PROGRAM PROGRAM

    """#

  private static let fishText = #"""
    # In ~/.config/fish/config.fish:  PROGRAM completions fish | source
    function __PROGRAM_complete
      set -l words (commandline -opc) (commandline -ct)
      set -l lines (PROGRAM complete-words -- $words[2..-1] 2>/dev/null)
      if test (count $lines) -gt 1
        printf '%s\n' $lines[2..-1]
      end
      switch "$lines[1]"
        case :files
          __fish_complete_path (commandline -ct)
        case :directories
          __fish_complete_directories (commandline -ct)
      end
    end
    complete -c PROGRAM -f -a '(__PROGRAM_complete)'

    """#
}
