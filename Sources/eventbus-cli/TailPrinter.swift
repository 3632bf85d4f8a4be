import EventCodec
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Events to lines on stdout: those that match, as asked, until there are enough or nobody reads them.
struct TailPrinter: ~Copyable {
  private let clauses: [WhereClause]
  private let limit: Int?
  private var format: TailFormat
  private var output = TailOutput()
  private var printed = 0
  /// What conditions name, of all events; what the template names, of those shown.
  private var asked = PathWatch()
  private var shown = PathWatch()

  init(_ settings: TailSettings) {
    clauses = settings.clauses
    limit = settings.count
    format = TailFormat(settings, isForTerminal: output.isTerminal)
    for clause in clauses { asked.add(clause) }
    for case .field(let path) in settings.template?.parts ?? [] where path.count > 1 {
      shown.add(path, of: "template")
    }
  }

  var isClosed: Bool { output.isClosed }
  var isDone: Bool { output.isClosed || limit.map { printed >= $0 } ?? false }

  mutating func begin() { output.begin(format.heading) }
  mutating func flush() { output.flush() }
  mutating func lookForReader() { output.lookForReader() }

  /// Says which paths no event had.
  func tellUnseen() {
    asked.tell()
    shown.tell()
  }

  mutating func show(_ payload: RawSpan, _ name: RawSpan, offset: UInt64) {
    asked.look(payload)
    for clause in clauses where !clause.matches(payload) { return }
    do throws(CodecError) {
      try format.line(payload, name, offset: offset) { output.writeLine($0) }
      printed += 1
      shown.look(payload)
    } catch {
      Terminal.error("offset \(offset): the event cannot be shown: \(error)")
    }
  }
}

/// Lines to stdout, until whoever reads them has gone: then there is nothing left to do, and no fault.
struct TailOutput: ~Copyable {
  private var output = StandardOutput()
  private(set) var isClosed = false

  var isTerminal: Bool { output.isTerminal }

  mutating func begin(_ heading: String?) {
    guard let heading else { return }
    writeLine(Array(heading.utf8))
    flush()
  }

  mutating func writeLine(_ bytes: [UInt8]) { unsafe writeLine(bytes.span.bytes) }

  mutating func writeLine(_ bytes: RawSpan) {
    attempt { output throws(SystemError) in try output.writeLine(bytes) }
  }

  /// After each batch: whoever reads along gets every line as soon as it is there.
  mutating func flush() { attempt { output throws(SystemError) in try output.flush() } }

  private mutating func attempt(_ body: (inout StandardOutput) throws(SystemError) -> Void) {
    do throws(SystemError) {
      try body(&output)
    } catch {
      Terminal.outputFailed(error)
      isClosed = true
    }
    isClosed = isClosed || output.isClosed
  }

  /// On an idle bus nothing is written, so nothing fails: this notices a reader that has gone.
  mutating func lookForReader() {
    var item = pollfd(fd: 1, events: 0, revents: 0)
    if unsafe poll(&item, 1, 0) > 0, item.revents & Int16(POLLERR) != 0 { isClosed = true }
  }
}
