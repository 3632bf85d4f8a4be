internal import CSodium

/// Base64 with padding (RFC 4648, section 4).
public enum Base64 {
  public static func encode(_ bytes: [UInt8]) -> String {
    let length = sodium_base64_encoded_len(bytes.count, sodium_base64_VARIANT_ORIGINAL)
    var text = [CChar](repeating: 0, count: length)
    unsafe sodium_bin2base64(
      &text, length, bytes, bytes.count, sodium_base64_VARIANT_ORIGINAL)
    return string(text)
  }

  /// Nil when it is no base64.
  public static func decode(_ text: String) -> [UInt8]? {
    let input = text.utf8.map { CChar(bitPattern: $0) }
    var bytes = [UInt8](repeating: 0, count: max(1, input.count))
    var count = 0
    let code = unsafe sodium_base642bin(
      &bytes, bytes.count, input, input.count, nil, &count, nil, sodium_base64_VARIANT_ORIGINAL)
    return code == 0 ? Array(bytes[..<count]) : nil
  }
}

/// Lower-case hexadecimal.
public enum Hex {
  public static func encode(_ bytes: [UInt8]) -> String {
    let length = bytes.count * 2 + 1
    var text = [CChar](repeating: 0, count: length)
    unsafe sodium_bin2hex(&text, length, bytes, bytes.count)
    return string(text)
  }

  /// Nil when it is no hexadecimal; either case is read.
  public static func decode(_ text: String) -> [UInt8]? {
    let input = text.utf8.map { CChar(bitPattern: $0) }
    var bytes = [UInt8](repeating: 0, count: max(1, input.count))
    var count = 0
    let code = unsafe sodium_hex2bin(
      &bytes, bytes.count, input, input.count, nil, &count, nil)
    return code == 0 ? Array(bytes[..<count]) : nil
  }
}

/// What was written, up to its NUL.
private func string(_ text: [CChar]) -> String {
  String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
