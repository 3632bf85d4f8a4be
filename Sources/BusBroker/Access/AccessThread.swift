internal import BusTransport
internal import Primitives
internal import Synchronization

/// The thread that answers libzmq about who may connect, and watches the file of keys.
///
/// It begins before the sockets bind and ends after they have closed. When it fails the broker ends: a
/// context without an authenticator lets everybody in, and then only the seal of `AccessControl` stands.
final class AccessThread: Sendable {
  /// Between two looks at the file. Its change takes effect within this and a turn of each thread.
  private static let interval = 200

  let control: AccessControl
  let serverKey: CurveKeyPair
  private let shared: Shared
  private let thread: OwnedThread

  private final class Shared: Sendable {
    let isStopped = Atomic<Bool>(false)
  }

  init(
    context: ZeroMQContext, directory: String, results: Mailbox<BrokerEvent>,
    report: @escaping @Sendable (OperatorReport) -> Void
  ) throws {
    serverKey = try Self.serverKey(directory)
    let file = AccessFile(directory: directory)
    let first = FileStamp(file.path)
    let keys = try file.load()
    if keys.isEmpty {
      report(
        OperatorReport(
          .warning, "no_keys",
          "no key is authorised: `eventbus keys authorize` lets somebody in"))
    }
    let control = AccessControl(keys)
    let shared = Shared()
    let gate = try StartGate()
    let judge = ConnectionJudge(control, report)
    self.control = control
    self.shared = shared
    thread = try OwnedThread(name: "eb-access") {
      let failure = gate.run { opened in
        var seen = first
        var authenticator = try ConnectionAuthenticator(context) { judge.decide($0) }
        opened("")
        while !shared.isStopped.load(ordering: .relaxed) {
          try authenticator.serve(milliseconds: Self.interval)
          let now = FileStamp(file.path)
          if now != seen { Self.reload(file, control, results, report) }
          seen = now
        }
      }
      if let failure { results.post(.threadFailed("authenticator", "\(failure)")) }
    }
    _ = try gate.wait()
  }

  deinit { stop() }

  /// The broker's own key, made when it is first needed.
  private static func serverKey(_ directory: String) throws -> CurveKeyPair {
    let path = BrokerKey.path(directory)
    do throws(CurveKeyFile.Failure) {
      return try CurveKeyFile.pair(path)
    } catch {
      guard case .file(let failure) = error, failure.isMissing else { throw error }
    }
    return try BrokerKey.make(directory)
  }

  private static func reload(
    _ file: AccessFile, _ control: AccessControl, _ results: Mailbox<BrokerEvent>,
    _ report: @Sendable (OperatorReport) -> Void
  ) {
    do throws(AccessFile.Failure) {
      let keys = try file.load()
      control.replace(keys)
      results.post(.accessChanged)
      report(
        OperatorReport(
          .info, "keys_changed",
          keys.count.counted("key is", "keys are") + " authorised"))
    } catch {
      report(
        OperatorReport(
          .error, "keys_invalid", "the keys stay as they were: \(error)"))
    }
  }

  /// How the socket of a port is protected; the authenticator is told the port's name.
  func role(_ port: RefusalCounts.Port) -> CurveRole {
    .server(serverKey.secretKey, domain: port.rawValue)
  }

  func stop() {
    shared.isStopped.store(true, ordering: .relaxed)
    thread.join()
  }
}

/// The broker's own key pair, in its directory.
public enum BrokerKey {
  static func path(_ directory: String) -> String { directory + "/broker.key" }

  /// The public half, as text; made with the secret one when there is none yet.
  public static func publicKey(directory: String) throws -> String {
    do throws(CurveKeyFile.Failure) {
      return "\(try CurveKeyFile.pair(path(directory)).publicKey)"
    } catch {
      guard case .file(let failure) = error, failure.isMissing else { throw error }
    }
    return "\(try make(directory).publicKey)"
  }

  static func make(_ directory: String) throws -> CurveKeyPair {
    let path = path(directory)
    do throws(CurveKeyFile.Failure) {
      try CurveKeyFile.write(try newPair(), to: path, name: "broker", replacing: false)
    } catch {
      // Another process was faster: its key is the one.
      guard case .file(.exists) = error else { throw error }
    }
    return try CurveKeyFile.pair(path)
  }

  private static func newPair() throws(CurveKeyFile.Failure) -> CurveKeyPair {
    do throws(TransportError) { return try .generate() } catch { throw .transport(error) }
  }
}
