internal import CPlatform
internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A running child: its process id, its output, and the descriptor that tells its end.
struct SupervisedProcess: ~Copyable {
  enum Stream { case output, diagnostics }

  let id: Int32
  /// Readable once the child ended; -1 where the system has no such descriptor.
  let endDescriptor: Int32
  let output: Int32
  let diagnostics: Int32
  private var outputLines = LineSplitter()
  private var diagnosticLines = LineSplitter()
  private(set) var isOutputOpen = true
  private(set) var isDiagnosticsOpen = true

  init(
    _ specification: ServiceSpecification, environment: [String: String]
  ) throws(SystemError) {
    let merged = environment.merging(specification.environment) { $1 }
    let variables = merged.map { "\($0.key)=\($0.value)" }.sorted()
    let words = [specification.program] + specification.arguments
    var (out, err): (Int32, Int32) = (-1, -1)
    id = try SystemError.check("posix_spawn", specification.program) {
      unsafe Self.withStrings(words) { words in
        unsafe Self.withStrings(variables) { variables in
          unsafe eb_spawn(
            specification.program, words, variables, specification.holdsSignals ? 1 : 0, &out, &err)
        }
      }
    }
    output = out
    diagnostics = err
    endDescriptor = eb_pidfd(id)
  }

  deinit {
    close(output)
    close(diagnostics)
    if endDescriptor >= 0 { close(endDescriptor) }
  }

  func send(signal: Int32) { kill(id, signal) }

  /// The exit status, or 128 + the signal that ended it; nil while it runs.
  func reap() throws(SystemError) -> Int32? {
    var code: Int32 = 0
    let result = try SystemError.check("waitpid") { unsafe eb_reap(id, &code) }
    return result == 0 ? nil : code
  }

  /// The lines that are there to read, without waiting: at most 64 KiB a call.
  ///
  /// `all` is for a child that ended: what its pipe still holds (64 KiB, thus two reads; the
  /// margin is for larger pipes), but not for ever what a grandchild goes on writing.
  mutating func readLines(_ stream: Stream, all: Bool = false) -> [String] {
    let descriptor = stream == .output ? output : diagnostics
    var lines: [String] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    for _ in 0..<(all ? 16 : 1) {
      let count = unsafe read(descriptor, &buffer, buffer.count)
      if count > 0 {
        lines += split(buffer[..<count], from: stream)
        continue
      }
      // The end of the stream, or a fault that reading again would not mend.
      let isOver = count == 0 || (errno != EAGAIN && errno != EINTR)
      if isOver || all, let rest = closeStream(stream) { lines.append(rest) }
      break
    }
    return lines
  }

  private mutating func split(_ bytes: ArraySlice<UInt8>, from stream: Stream) -> [String] {
    switch stream {
    case .output: outputLines.append(bytes)
    case .diagnostics: diagnosticLines.append(bytes)
    }
  }

  private mutating func closeStream(_ stream: Stream) -> String? {
    switch stream {
    case .output:
      isOutputOpen = false
      return outputLines.finish()
    case .diagnostics:
      isDiagnosticsOpen = false
      return diagnosticLines.finish()
    }
  }

  /// Calls `body` with a NULL-terminated array of C strings.
  private static func withStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = unsafe strings.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress!) }
  }
}
