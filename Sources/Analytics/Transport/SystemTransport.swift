internal import Primitives

/// The transport that the system brings: URLSession on Apple's, libcurl on Linux.
public enum SystemTransport {
  /// Makes one, as a client without a transport of its own does: to wrap it, so as to log or to count.
  public static func make(timeout: Duration) throws(AnalyticsError) -> any AnalyticsTransport {
    #if canImport(Darwin)
      return URLSessionTransport(timeout: timeout)
    #else
      do throws(SystemError) {
        return try CurlTransport(timeout: timeout)
      } catch {
        throw .system(error.description)
      }
    #endif
  }
}

/// Checks an address without a parser of addresses: what is wrong beyond this, the transport says.
enum AnalyticsEndpoint {
  static func check(_ text: String) throws(AnalyticsError) {
    let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
    guard let scheme, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw .endpoint(text)
    }
    let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    // A user in an address would stand in every log; the write key has a place of its own.
    guard !authority.isEmpty, !authority.contains("@") else { throw .endpoint("\(scheme)...") }
  }
}

/// RFC 4648, with padding.
enum Base64 {
  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var word: UInt32 = 0
      for byte in group { word = word << 8 | UInt32(byte) }
      word <<= UInt32(3 - group.count) * 8
      for place in 0..<4 {
        let digit = digits[Int(word >> UInt32(18 - 6 * place) & 63)]
        text.append(place <= group.count ? digit : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
