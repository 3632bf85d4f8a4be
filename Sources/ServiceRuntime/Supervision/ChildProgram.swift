internal import CPlatform
public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A child process that a command starts for its own work and ends with it: its lines, its end.
///
/// Belongs to the thread that made it, which should live as long as the child: the kernel ends the child
/// with that thread. A child still running when the object goes is killed.
public final class ChildProgram {
  private var process: SupervisedProcess
  /// The exit status, or 128 + the signal that ended it; nil while it runs.
  public private(set) var status: Int32?

  /// - Parameter holdsSignals: see `ServiceSpecification`.
  public init(
    name: String, program: String, arguments: [String], environment: [String: String],
    holdsSignals: Bool = false
  ) throws(SystemError) {
    var specification = ServiceSpecification(
      name: name, program: program, arguments: arguments, holdsSignals: holdsSignals)
    specification.environment = [
      "EVENTBUS_SUPERVISED": "1", "EVENTBUS_SUPERVISOR": "\(getpid())",
    ]
    process = try SupervisedProcess(specification, environment: environment)
  }

  deinit {
    guard status == nil else { return }
    process.send(signal: SIGKILL)
    // Nobody refuses SIGKILL; until it is reaped it would stay as a zombie.
    do throws(SystemError) {
      while try process.reap() == nil { _ = poll(nil, 0, 1) }
    } catch {
      // It is reaped already.
    }
  }

  public var id: Int32 { process.id }

  /// Asks it to end in order (SIGTERM).
  public func stop() { if status == nil { process.send(signal: SIGTERM) } }

  public func kill() { if status == nil { process.send(signal: SIGKILL) } }

  /// The descriptors that are readable when there are lines, or the end, to take.
  public var descriptors: [Int32] {
    guard status == nil else { return [] }
    var open: [Int32] = []
    if process.isOutputOpen { open.append(process.output) }
    if process.isDiagnosticsOpen { open.append(process.diagnostics) }
    if process.endDescriptor >= 0 { open.append(process.endDescriptor) }
    return open
  }

  /// What it has written since, without waiting, and whether it has ended.
  public func look() throws(SystemError) -> (output: [String], diagnostics: [String]) {
    if status == nil { status = try process.reap() }
    let isOver = status != nil
    var lines: (output: [String], diagnostics: [String]) = ([], [])
    if process.isOutputOpen { lines.output = process.readLines(.output, all: isOver) }
    if process.isDiagnosticsOpen {
      lines.diagnostics = process.readLines(.diagnostics, all: isOver)
    }
    return lines
  }

  /// CPU nanoseconds that it has used so far; nil where the system does not say, or when it has ended.
  public var cpu: Int64? {
    guard status == nil else { return nil }
    let nanoseconds = eb_cpu_ns_of_process(process.id)
    return nanoseconds >= 0 ? nanoseconds : nil
  }
}
