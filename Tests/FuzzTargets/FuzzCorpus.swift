// The kept inputs of one target, `Corpus/TARGET.txt`: one input a line, so that a change of them can be
// read. Printable ASCII stands as it is; the backslash and every other byte as \xHH. A line that begins
// with `# ` is a remark: what the next input once broke.

/// The text form of a target's inputs.
public enum FuzzCorpus {
  public static func parse(_ text: String) -> [[UInt8]] {
    text.split(separator: "\n").filter { !$0.hasPrefix("# ") }.map { bytes($0.utf8) }
  }

  public static func line(_ input: [UInt8]) -> String {
    var text = ""
    for (index, byte) in input.enumerated() {
      // An input is no remark.
      let isPlain = (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\\")
      if isPlain && !(index == 0 && byte == UInt8(ascii: "#")) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += (byte < 16 ? "\\x0" : "\\x") + String(byte, radix: 16)
      }
    }
    return text
  }

  private static func bytes(_ line: Substring.UTF8View) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = line[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "x") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.dropFirst().prefix(2)
      bytes.append(UInt8(Substring(digits), radix: 16) ?? 0)
      rest = rest.dropFirst(3)
    }
    return bytes
  }
}
