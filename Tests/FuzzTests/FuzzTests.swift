internal import Foundation
internal import FuzzTargets
internal import Testing

/// The short form of `Deploy/fuzz`: each decoder with what is kept and some thousands of changes of it.
/// An input that ends the process ends this test; `Deploy/fuzz TARGET` then finds and shows it.
struct FuzzTests {
  private static func mutations(_ target: FuzzTarget) -> Int { target.isSlow ? 100 : 1_500 }

  private func kept(_ target: FuzzTarget) throws -> [[UInt8]] {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../FuzzTargets/Corpus/\(target.name).txt")
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    return FuzzCorpus.parse(try String(contentsOf: file, encoding: .utf8))
  }

  @Test(arguments: FuzzTarget.all.map(\.name))
  func `whatever the bytes, a decoder keeps its property`(name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    let inputs = target.seeds + (try kept(target))
    try #require(!target.seeds.isEmpty)
    for input in [[]] + inputs { check(target, input) }
    var mutator = Mutator(seed: 1)
    for _ in 0..<Self.mutations(target) { check(target, mutator.next(of: inputs)) }
  }

  private func check(_ target: FuzzTarget, _ input: [UInt8]) {
    do { try target.run(input) } catch {
      Issue.record("\(target.name): \(error)\n  \(FuzzCorpus.line(input))")
    }
  }

  @Test func `each target has a name of its own`() {
    #expect(Set(FuzzTarget.all.map(\.name)).count == FuzzTarget.all.count)
  }

  @Test func `a kept input is any bytes on one line`() {
    let inputs = [Array(0...255), Array("# \\x41".utf8), Array("#".utf8)] as [[UInt8]]
    let text = inputs.map { FuzzCorpus.line($0) + "\n" }.joined()
    #expect(FuzzCorpus.parse("# a remark\n" + text) == inputs)
  }
}
