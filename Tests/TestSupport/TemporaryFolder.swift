internal import Foundation
public import Primitives

/// A folder of a test's own, gone with it.
public final class TemporaryFolder: Sendable {
  public let path: String

  public init() throws(SystemError) {
    var template = Array("/tmp/eventbus-test-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  public func file(_ name: String) -> String { path + "/" + name }

  /// Fails only when a test made something that cannot be removed: /tmp shows it.
  deinit { try? FileManager.default.removeItem(atPath: path) }
}
