#if os(Linux)
  import Glibc
  import TestSupport
  import Testing

  @testable import BusBroker

  /// The connections of a port, seen by somebody who does not own them.
  @Suite struct LivePortTests {
    /// A socket that listens, and the connections that a test makes to it.
    private final class Listener {
      private let descriptor: Int32
      let port: LivePort
      private var connections: [Int32] = []

      init() {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = Self.loopback(0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe Self.with(&address) { unsafe bind(descriptor, $0, size) == 0 }
        let isThere = unsafe Self.with(&address) { unsafe getsockname(descriptor, $0, &size) == 0 }
        #expect(isBound && isThere && listen(descriptor, 8) == 0)
        port = LivePort("tcp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
      }

      deinit { for each in connections + [descriptor] { close(each) } }

      private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
      }

      private static func with<Result>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
      ) -> Result {
        unsafe withUnsafeMutablePointer(to: &address) {
          unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
      }

      /// Does not wait until the connection is taken.
      func connect() -> Int32 {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = Self.loopback(port.number)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = unsafe Self.with(&address) { unsafe Glibc.connect(client, $0, size) }
        connections.append(client)
        return client
      }

      func accept() -> Int32 {
        let taken = Glibc.accept(descriptor, nil, nil)
        connections.append(taken)
        return taken
      }
    }

    private static func says(_ text: String, _ client: Int32) -> Bool {
      unsafe write(client, text, text.utf8.count) == text.utf8.count
    }

    private static func isConnected(_ client: Int32) -> Bool {
      LiveConnections.peer(client) != []
    }

    @Test func `what came in by each connection is known, read or not`() {
      let listener = Listener()
      let client = listener.connect()
      let taken = listener.accept()
      #expect(Self.says("Hello", client))
      #expect(waitUntil { listener.port.received() == [taken: 5] })
    }

    @Test func `connections of other ports are not seen and not ended`() {
      let (listener, other) = (Listener(), Listener())
      _ = other.connect()
      let taken = other.accept()
      #expect(listener.port.received().isEmpty)
      #expect(!listener.port.end(taken))
      #expect(Self.isConnected(taken))
    }

    @Test func `a connection that is ended loses what was not read`() {
      let listener = Listener()
      let client = listener.connect()
      let taken = listener.accept()
      #expect(Self.says("Hello", client))
      #expect(waitUntil { listener.port.received() == [taken: 5] })
      #expect(listener.port.end(taken))
      var byte: UInt8 = 0
      let got = unsafe recv(taken, &byte, 1, Int32(MSG_DONTWAIT))
      #expect(got <= 0)
      #expect(waitUntil { !Self.isConnected(client) })
    }

    @Test func `who connects while none are taken is taken later`() {
      let listener = Listener()
      listener.port.takeConnections(false)
      let client = listener.connect()
      #expect(!Self.isConnected(client))
      listener.port.takeConnections(true)
      #expect(waitUntil { Self.isConnected(client) })
    }
  }
#endif
