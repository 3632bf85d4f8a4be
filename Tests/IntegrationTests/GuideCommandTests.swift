import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// The commands that README, Runbook, threat model and guides name are this program's: each is asked for its help
  /// with all of its words before, which refuses a command or an option that is not there.
  @Suite struct GuideCommandTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()

    private static func pages() throws -> [String] {
      let guides = root.appending(path: "Deploy/Guide").path
      return try ["README.md", "Deploy/Runbook.md", "Deploy/ThreatModel.md"]
        + FileManager.default.contentsOfDirectory(atPath: guides).sorted().map {
          "Deploy/Guide/\($0)"
        }
    }

    /// The words behind `eventbus`, without quotes, to the end of the command.
    private static func words(_ line: Substring) -> [String] {
      var words: [String] = []
      var word: String?
      var quote: Character?
      for character in line {
        if let open = quote {
          if character == open { quote = nil } else { word?.append(character) }
        } else if character == "'" || character == "\"" {
          quote = character
          word = word ?? ""
        } else if character == " " {
          if let word { words.append(word) }
          word = nil
        } else if "|>&#;".contains(character), word == nil {
          return words
        } else {
          word = (word ?? "") + String(character)
        }
      }
      if let word { words.append(word) }
      return words
    }

    /// What stands in a shell's block, whole, or between backticks in a line.
    private static func commands(_ page: String) throws -> (whole: [[String]], parts: [[String]]) {
      let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
      var whole: [[String]] = []
      var parts: [[String]] = []
      var language: Substring?
      for line in text.split(separator: "\n") {
        if line.hasPrefix("```") {
          language = language == nil ? line.dropFirst(3) : nil
        } else if language == "sh", line.hasPrefix("eventbus ") {
          whole.append(words(line.dropFirst(9)))
        } else if language == nil {
          parts += line.matches(of: /`eventbus ([a-z][^`]*)`/).map { words($0.1) }
        }
      }
      return (whole, parts)
    }

    private func help(_ words: [String]) throws -> Program.Run {
      try Program.run(words + ["--help"])
    }

    /// How many words are neither the command's own nor options with their values, as its help has them.
    private func positionals(_ words: [String], _ help: Program.Run) throws -> Int {
      let usage = try #require(help.lines.first)
      let own = try #require(usage.firstMatch(of: /^Usage: eventbus (.*) \[OPTION\]/)).1
      var rest = words.dropFirst(own.split(separator: " ").count)
      var count = 0
      while let word = rest.popFirst() {
        guard word.hasPrefix("--") else {
          count += 1
          continue
        }
        let takesValue = help.lines.contains {
          $0.hasPrefix("  \(word) ") && !$0.hasPrefix("  \(word)  ")
        }
        if takesValue { _ = rest.popFirst() }
      }
      return count
    }

    @Test func `each command in a guide has only options that there are`() throws {
      var seen: Set<[String]> = []
      for page in try Self.pages() {
        let (whole, parts) = try Self.commands(page)
        for words in whole + parts where seen.insert(words).inserted {
          // Any command, and no option: nothing to compare.
          if words.first == "help" { continue }
          let help = try help(words)
          #expect(help.status == .exited(0), "\(page): \(words): \(help.errors)")
        }
      }
      #expect(seen.count > 50)
    }

    @Test func `each command in a guide's block has the arguments it needs`() throws {
      for page in try Self.pages() {
        for words in try Self.commands(page).whole {
          let help = try help(words)
          let usage = try #require(help.lines.first)
          let needed = usage.split(separator: " ").drop { $0 != "[OPTION]..." }.dropFirst()
          let count = try positionals(words, help)
          #expect(count >= needed.count { !$0.hasPrefix("[") }, "\(page): \(words)")
          let isOpen = needed.last?.hasSuffix("]...") ?? false
          #expect(isOpen || count <= needed.count, "\(page): \(words)")
        }
      }
    }
  }
}
