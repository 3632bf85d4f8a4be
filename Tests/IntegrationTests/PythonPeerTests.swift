import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Programs in another language with nothing but ZeroMQ and MessagePack.
  @Suite(.enabled(if: PythonPeer.isThere, "needs python3 with zmq and msgpack"))
  struct PythonPeerTests {
    @Test func `a plain SUB gets exactly its name as three frames`() throws {
      let broker = try TestBroker()
      let live = try #require(broker.addresses["live"])
      let peer = try PythonPeer(
        """
        sub = socket(zmq.SUB); sub.connect(sys.argv[1])
        sub.subscribe(b'Game Started\\0'); sub.subscribe(b'$HEAD/Game Started\\0')
        ready(sub)
        got = 0
        while got < 2:
            name, payload, meta = sub.recv_multipart()
            if name.startswith(b'$HEAD/'): continue
            event = msgpack.unpackb(payload)
            version, flags, length, epoch, offset, sequence, time = struct.unpack('>BBHIQQq', meta[:32])
            say(name.decode().rstrip('\\0'), event['event'], event['messageId'],
                event['properties']['n'], version, length, offset, sequence)
            got += 1
        """, [live])
      try #require(peer.process.output.waitForLine { $0 == "ready" } != nil, "\(peer.errors)")
      let names = ["Game Started", "Game", "Game Started ", "Game Started Again", "Game Started"]
      let run = try broker.publish(
        lines: names.enumerated().map {
          EventLine.track($1, id: "L-\($0)", properties: "{\"n\":\($0)}")
        })
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(peer.process.wait() == .exited(0), "\(peer.errors)")
      #expect(
        peer.process.output.lines == [
          "ready", "Game Started|Game Started|L-0|0|1|32|0|1",
          "Game Started|Game Started|L-4|4|1|32|4|2",
        ])
    }

    @Test func `what a PUB sends to the publish port reaches a SUB by name`() throws {
      let broker = try TestBroker()
      let peer = try PythonPeer(
        """
        sub = socket(zmq.SUB); sub.connect(sys.argv[1])
        sub.subscribe(b'Level Done\\0'); sub.subscribe(b'$HEAD/Level Done\\0')
        ready(sub)
        pub = socket(zmq.PUB); pub.connect(sys.argv[2])
        # A PUB drops until its peer has subscribed, so it repeats until the first one is through.
        poller = zmq.Poller(); poller.register(sub, zmq.POLLIN)
        while True:
            pub.send_multipart([b'Other', b'{"level":0}'])
            pub.send_multipart([b'Level Done', b'{"level":7,"boss":true}'])
            if not dict(poller.poll(50)): continue
            name, payload, meta = sub.recv_multipart()
            if name.startswith(b'$HEAD/'): continue
            event = msgpack.unpackb(payload)
            say(name.decode().rstrip('\\0'), event['properties'], len(event['messageId']))
            break
        """, [try #require(broker.addresses["live"]), try #require(broker.addresses["publish"])])
      #expect(peer.process.wait() == .exited(0), "\(peer.errors)")
      #expect(
        peer.process.output.lines == ["ready", "Level Done|{'level': 7, 'boss': True}|36"])
    }

    @Test func `everything a PUSH sends is in the journal in order`() throws {
      let broker = try TestBroker()
      let peer = try PythonPeer(
        """
        push = socket(zmq.PUSH); push.setsockopt(zmq.LINGER, 10000); push.connect(sys.argv[1])
        for n in range(1000):
            push.send_multipart([b'Pushed', msgpack.packb({'n': n, 'exact': True, 'one': 1.0})])
        push.send_multipart([b'Last', b'{}'])
        """, [try #require(broker.addresses["push"])])
      #expect(peer.process.wait() == .exited(0), "\(peer.errors)")
      #expect(try waitUntil { try broker.stored(["--exact", "Last"]).count == 1 })
      let stored = try broker.stored(["--exact", "Pushed"])
      #expect(stored.compactMap { $0["properties"]?["n"]?.int } == Array(0..<1000))
      #expect(stored.first?["properties"]?["exact"] == .bool(true))
    }
  }
}

/// A Python program of a few lines, with sockets that end with it.
struct PythonPeer {
  static let isThere: Bool = {
    let run = try? ChildProcess.run("/usr/bin/python3", ["-c", "import zmq, msgpack"])
    if run?.status == .exited(0) { return true }
    print("integration tests: no python3 with zmq and msgpack; what needs them is skipped")
    return false
  }()

  let process: ChildProcess

  init(_ program: String, _ arguments: [String]) throws {
    process = try ChildProcess("/usr/bin/python3", ["-c", Self.start + program] + arguments)
  }

  var errors: String { process.errorOutput.text }

  /// `ready` waits for the head beacon, the sign that the subscription holds.
  private static let start = """
    import sys, struct, zmq, msgpack
    context = zmq.Context()
    def socket(kind):
        made = context.socket(kind); made.linger = 1000; made.rcvtimeo = 20000; return made
    def say(*values): print('|'.join(str(value) for value in values), flush=True)
    def ready(sub):
        name = sub.recv_multipart()[0]
        assert name.startswith(b'$HEAD/'), name
        say('ready')

    """
}
