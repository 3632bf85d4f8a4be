/// The words this process was started with.
public enum ProcessArguments {
  /// Without the program's name.
  ///
  /// - Throws: `UsageError` for a word that is not UTF-8. Swift's own list puts U+FFFD in the place of
  ///   such bytes, and an event would then be published under a name that nobody wrote.
  public static func current() throws(UsageError) -> [String] {
    var words: [[UInt8]] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = unsafe CommandLine.unsafeArgv[index] else { break }
      var bytes: [UInt8] = []
      var next = unsafe word
      while unsafe next.pointee != 0 {
        bytes.append(UInt8(bitPattern: unsafe next.pointee))
        unsafe next += 1
      }
      words.append(bytes)
    }
    return try texts(words)
  }

  /// Overwrites the values of these options (`--token`) where the system shows a process's command line
  /// to others. It was there until now, so a file or the environment stays safer.
  public static func hideValues(of options: Set<String>) {
    var isValue = false
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = unsafe CommandLine.unsafeArgv[index] else { return }
      let text = unsafe String(cString: word)
      let name = text.prefix { $0 != "=" }
      let start = isValue ? 0 : options.contains(String(name)) ? name.utf8.count + 1 : Int.max
      isValue = !isValue && options.contains(text)
      guard start < text.utf8.count else { continue }
      for place in start..<text.utf8.count { unsafe word[place] = CChar(UInt8(ascii: "*")) }
    }
  }

  static func texts(_ words: [[UInt8]]) throws(UsageError) -> [String] {
    var texts: [String] = []
    for (index, word) in words.enumerated() {
      guard let text = String(validating: word, as: UTF8.self) else {
        let before = texts.last.map { $0.hasPrefix("--") ? ", the value of \($0)," : "" } ?? ""
        throw UsageError(
          "argument \(index + 1) ('\(String(decoding: word, as: UTF8.self))')\(before) is not UTF-8; "
            + "write it in UTF-8, or publish it from a file")
      }
      texts.append(text)
    }
    return texts
  }
}
