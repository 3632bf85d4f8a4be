internal import Foundation
internal import TestSupport

extension TemporaryFolder {
  func copy(_ source: String, to target: String) throws {
    try FileManager.default.copyItem(atPath: source, toPath: target)
  }

  func store(_ bytes: [UInt8], in target: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: target))
  }
}
