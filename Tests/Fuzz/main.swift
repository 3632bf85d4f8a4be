// Drives the fuzz targets; Deploy/fuzz calls it.
//
//   fuzz list                    the names of the targets
//   fuzz replay TARGET FILE...   runs a target on files; a broken property ends with exit code 1
//   fuzz unpack TARGET DIR       writes the target's seeds and its kept inputs to files
//   fuzz pack TARGET DIR BYTES   keeps the files of DIR, the smallest first, up to so many bytes
//
// With FUZZ_TARGET in the environment, and as Deploy/fuzz builds it, it is libFuzzer for that target with
// libFuzzer's own options: libFuzzer starts itself again, and then passes no words of ours.
internal import Foundation
internal import FuzzTargets

#if FUZZING
  internal import CFuzzer
#endif

private func leave(_ text: String, _ code: Int32 = 2) -> Never {
  FileHandle.standardError.write(Data((text + "\n").utf8))
  exit(code)
}

private func say(_ text: String) {
  FileHandle.standardOutput.write(Data((text + "\n").utf8))
}

private func target(_ name: String) -> FuzzTarget {
  guard let target = FuzzTarget.named(name) else {
    leave("no target is called \(name): see fuzz list")
  }
  return target
}

private func corpusFile(_ target: FuzzTarget) -> URL {
  URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../FuzzTargets/Corpus/\(target.name).txt").standardizedFileURL
}

private func kept(_ target: FuzzTarget) throws -> String {
  let file = corpusFile(target)
  guard FileManager.default.fileExists(atPath: file.path) else { return "" }
  return try String(contentsOf: file, encoding: .utf8)
}

private func replay(_ target: FuzzTarget, _ files: ArraySlice<String>) throws {
  for file in files {
    let input = [UInt8](try Data(contentsOf: URL(filePath: file)))
    do throws(Violation) {
      try target.run(input)
      say("\(file): the property holds")
    } catch {
      leave("\(file): \(error)\n  \(FuzzCorpus.line(input))", 1)
    }
  }
}

private func unpack(_ target: FuzzTarget, _ folder: URL) throws {
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  for (index, input) in (target.seeds + FuzzCorpus.parse(try kept(target))).enumerated() {
    try Data(input).write(to: folder.appending(path: "kept-\(index)"))
  }
}

/// Remarked inputs, which once broke something, stay whatever their size.
private func pack(_ target: FuzzTarget, _ folder: URL, _ bytes: Int) throws {
  let old = try kept(target).split(separator: "\n", omittingEmptySubsequences: true)
  var lines: [String] = []
  for (index, line) in old.enumerated() where line.hasPrefix("# ") {
    lines.append(String(line))
    if index + 1 < old.count { lines.append(String(old[index + 1])) }
  }
  let files = try FileManager.default.contentsOfDirectory(
    at: folder, includingPropertiesForKeys: nil)
  let seeds = Set(target.seeds)
  let found = try files.map { [UInt8](try Data(contentsOf: $0)) }
    .filter { !seeds.contains($0) && !$0.isEmpty }.map(FuzzCorpus.line)
  var left = bytes
  for line in Set(found).sorted(by: { ($0.utf8.count, $0) < ($1.utf8.count, $1) }) {
    left -= line.utf8.count + 1
    guard left >= 0 else { break }
    if !lines.contains(line) { lines.append(line) }
  }
  try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: corpusFile(target))
  say("\(target.name): \(lines.count) lines kept of \(found.count) inputs")
}

#if FUZZING
  nonisolated(unsafe) private var fuzzed: FuzzTarget?

  @c(LLVMFuzzerTestOneInput)
  public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    let input = unsafe [UInt8](UnsafeBufferPointer(start: data, count: size))
    do throws(Violation) {
      try unsafe fuzzed?.run(input)
    } catch {
      preconditionFailure("the property is broken: \(error)")
    }
    return 0
  }

  private func fuzz(_ target: FuzzTarget) -> Int32 {
    unsafe fuzzed = target
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? =
      unsafe CommandLine.unsafeArgv
    return unsafe LLVMFuzzerRunDriver(&count, &arguments) { unsafe testOneInput($0, $1) }
  }
#else
  private func fuzz(_ target: FuzzTarget) -> Int32 {
    leave("this program was built without libFuzzer: run Deploy/fuzz \(target.name)")
  }
#endif

if let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] { exit(fuzz(target(name))) }
private let words = CommandLine.arguments
switch (words.dropFirst().first, words.count) {
case ("list", 2): for target in FuzzTarget.all { say(target.name) }
case ("replay", 4...): try replay(target(words[2]), words[3...])
case ("unpack", 4): try unpack(target(words[2]), URL(filePath: words[3]))
case ("pack", 5): try pack(target(words[2]), URL(filePath: words[3]), Int(words[4]) ?? 0)
default: leave("use: fuzz list | replay TARGET FILE... | unpack TARGET DIR | pack TARGET DIR BYTES")
}
