public import Primitives
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// An HTTP/1.1 server on 127.0.0.1 that can also misbehave, which a real server library cannot: reset,
/// cut an answer, drip it.
///
/// A thread accepts, and each connection has one; the handler is called on that, so it must be
/// thread-safe. Everything is closed when the object goes.
public final class StubServer: Sendable {
  public typealias Handler = @Sendable (StubRequest) -> StubAnswer
  /// Asked between the head of a request and its body.
  public typealias Interrupter = @Sendable (_ path: String) -> Interruption?

  /// What ends a connection when half of a body is read.
  public enum Interruption: Hashable, Sendable { case close, reset }

  public let port: UInt16
  private let shared: Shared

  public init(
    port: UInt16 = 0, interrupting: @escaping Interrupter = { _ in nil },
    handler: @escaping Handler
  ) throws(SystemError) {
    let listening = try StubSocket.listening(port: port)
    self.port = try listening.port()
    shared = Shared(listening: listening, interrupter: interrupting, handler: handler)
    let shared = shared
    try OwnedThread(name: "stub") { shared.acceptAll() }.detach()
  }

  deinit { stop() }

  public var url: String { "http://127.0.0.1:\(port)" }
  /// Connections that were made so far.
  public var connections: Int { shared.state.withLock { $0.accepted } }

  /// Connections of now; one that the client closed counts until its thread has seen it.
  public var openConnections: Int { shared.state.withLock { $0.open.count } }

  /// Closes the port and every connection.
  public func stop() { shared.stop() }

  final class Shared: Sendable {
    struct State {
      var accepted = 0
      var requests = 0
      var open: [Int: StubSocket] = [:]
      var isStopped = false
    }

    let state = Mutex(State())
    let listening: StubSocket
    let interrupter: Interrupter
    let handler: Handler

    init(
      listening: StubSocket, interrupter: @escaping Interrupter, handler: @escaping Handler
    ) {
      self.listening = listening
      self.interrupter = interrupter
      self.handler = handler
    }

    func stop() {
      state.withLock { state in
        state.isStopped = true
        for socket in state.open.values { socket.shutDown() }
      }
      listening.shutDown()
    }

    func acceptAll() {
      while let socket = listening.accept() {
        let number = state.withLock { state -> Int? in
          guard !state.isStopped else { return nil }
          state.accepted += 1
          state.open[state.accepted] = socket
          return state.accepted
        }
        guard let number else { return }
        do throws(SystemError) {
          try OwnedThread(name: "stub \(number)") {
            var connection = StubConnection(socket, number: number, shared: self)
            connection.serve()
            self.state.withLock { $0.open[number] = nil }
          }.detach()
        } catch { state.withLock { $0.open[number] = nil } }
      }
    }
  }
}
