import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file or stdin, read in chunks; waiting for more ends when the process is asked to end.
final class InputFile {
  private let descriptor: Int32
  private let interruption: Interruption
  let name: String
  /// Whether more may come at any time: nothing but the other side says when it ends.
  let isPipe: Bool

  /// Whether a request to end has ended the reading, and not the input.
  private(set) var wasInterrupted = false

  /// - Parameter path: nil is stdin.
  init(_ path: String?, interruption: Interruption) throws {
    name = path ?? "stdin"
    self.interruption = interruption
    if let path {
      do {
        descriptor = try SystemError.check("open", path) { unsafe open(path, O_RDONLY | O_CLOEXEC) }
      } catch {
        throw CommandFailure(.failed, "\(error)")
      }
    } else {
      descriptor = 0
    }
    var info = stat()
    _ = unsafe fstat(descriptor, &info)
    isPipe = info.st_mode & S_IFMT != S_IFREG
  }

  deinit { if descriptor > 0 { close(descriptor) } }

  /// The next bytes; nil at the end, or when the process is asked to end.
  func read() throws -> [UInt8]? {
    if isPipe, !waitForInput() {
      wasInterrupted = true
      return nil
    }
    let chunk = try unsafe [UInt8](unsafeUninitializedCapacity: 256 << 10) { buffer, count in
      count = try SystemError.check("read", name) {
        unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      }
    }
    return chunk.isEmpty ? nil : chunk
  }

  var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

  /// Begins again at the first byte.
  func rewind() throws { try SystemError.check("lseek", name) { lseek(descriptor, 0, SEEK_SET) } }

  private func waitForInput() -> Bool {
    while !interruption.isRequested {
      var items = [
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: interruption.wake.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      _ = unsafe poll(&items, 2, -1)
      if items[1].revents != 0 { return false }
      if items[0].revents != 0 { return true }
    }
    return false
  }
}

/// A new file of lines, or stdout where the path is `-`. A fault is said once and ends the writing, not the
/// command.
final class FileWriter {
  private let path: String
  private let isStandardOutput: Bool
  private var output: StandardOutput
  private var hasFailed = false

  init(creating path: String) throws {
    self.path = path
    isStandardOutput = path == "-"
    if isStandardOutput {
      output = StandardOutput()
      return
    }
    let descriptor = try SystemError.check("open", path) {
      unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    }
    output = StandardOutput(descriptor: descriptor)
  }

  deinit { flush() }

  /// A line, which a reader of stdout has at once.
  func writeLine(_ bytes: [UInt8]) {
    write(bytes + [UInt8(ascii: "\n")])
    if isStandardOutput { flush() }
  }

  func write(_ text: String) { write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) {
    guard !hasFailed else { return }
    do throws(SystemError) {
      try output.write(bytes)
    } catch {
      fail(error)
    }
  }

  private func flush() {
    guard !hasFailed else { return }
    do throws(SystemError) {
      try output.flush()
    } catch {
      fail(error)
    }
  }

  private func fail(_ error: SystemError) {
    hasFailed = true
    if isStandardOutput { return Terminal.outputFailed(error) }
    Terminal.error("\(path): \(error)")
  }
}

extension Arguments {
  /// The path of an option whose file is written; `-` is stdout, unless something else is printed there.
  ///
  /// - Parameter printed: what is printed there; nil: nothing.
  func outputFile(_ option: String, besides printed: String?) throws(UsageError) -> String? {
    let path = text(option)
    if path == "-", let printed {
      throw UsageError("--\(option): stdout is for \(printed): name a file")
    }
    return path
  }
}
