import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Peers that speak ZeroMQ, but not as they should.
  @Suite(.enabled(if: PythonPeer.isThere, "needs python3 with zmq and msgpack"))
  struct HostilePeerTests {
    @Test func `nonsense on the bus port is answered or dropped and others go on`() throws {
      let broker = try TestBroker()
      #expect(try broker.isUp())
      let before = broker.memory
      let peer = try PythonPeer(
        """
        import os
        def dealer(identity=None):
            made = socket(zmq.DEALER)
            if identity: made.setsockopt(zmq.IDENTITY, identity)
            made.connect(sys.argv[1]); return made
        def header(verb, version=1, token=0): return struct.pack('>BBBBQ', 0xEB, version, verb, 0, token)
        held = []
        for identity in [b'\\x01', b'\\xff' * 255, b'x' * 255, b'\\r\\n', os.urandom(17)]:
            one = dealer(identity); held.append(one)
            for verb in range(256): one.send(header(verb) + os.urandom(verb))
            for version in (0, 2, 255): one.send(header(1, version) + b'\\x80')
            for count in range(1, 9): one.send_multipart([header(2)] * count)
            one.send(b''); one.send_multipart([b'', b'']); one.send(b'\\xEB'); one.send(os.urandom(5000))
        lost = dealer()
        lost.send(header(200, token=9))
        answer = lost.recv()
        say('unknown verb', answer[0], answer[2])
        lost.send(header(2, token=12345) + b'\\0' * 24)
        answer = lost.recv()
        say('no session', answer[0], answer[2])
        huge = dealer(); huge.send(header(2) + b'\\0' * (8 << 20))
        held.append(huge)
        for number in range(300): held.append(dealer()); held[-1].send(header(1) + os.urandom(20))
        say('done')
        sys.stdin.read()
        """, [broker.bus])
      #expect(
        peer.process.output.waitForLine(.seconds(60)) { $0 == "done" } != nil, "\(peer.errors)")
      // 0xEB is the magic, 69 the verb RESET: begin again.
      #expect(peer.process.output.lines == ["unknown verb|235|69", "no session|235|69", "done"])
      #expect(try broker.isUp(), "\(broker.process.errorOutput.text)")
      peer.process.closeInput()
      #expect(peer.process.wait() == .exited(0), "\(peer.errors)")
      #expect(try broker.isUp())
      #expect(try broker.stored().names == ["Still There", "Still There", "Still There"])
      #expect(
        broker.memory < before + (64 << 10) || Sanitizer.excusesMemory(),
        "\(before) to \(broker.memory) KiB")
    }

    @Test func `what plain sockets send wrongly is refused and the rest is stored`() throws {
      let broker = try TestBroker()
      let peer = try PythonPeer(
        """
        push = socket(zmq.PUSH); push.setsockopt(zmq.LINGER, 10000); push.connect(sys.argv[1])
        for frames in [[b'one frame'], [b'A', b'{}', b'three'], [b'A'] + [b'x'] * 100, [b'', b'{}'],
                [b'x' * 201, b'{}'], [b'x' * 300, b'{}'], [b'x' * 100000, b'{}'], [b'\\xff\\xfe', b'{}'],
                [b'A', b'{'], [b'A', b'[1]'], [b'A', b''], [b'A', b'\\xc1'], [b'A', b'\\x81\\xa1x'],
                [b'A', msgpack.packb({'x': b'y' * 300000})], [b'A', b'{"d":' + b'[' * 5000 + b'}'],
                [b'A', b'{"type":"track","event":"B","properties":{}}']]:
            push.send_multipart(frames)
        push.send_multipart([b'Good', b'{"n":1}'])
        """, [try #require(broker.addresses["push"])])
      #expect(peer.process.wait() == .exited(0), "\(peer.errors)")
      #expect(try waitUntil { try !broker.stored(["--exact", "Good"]).isEmpty })
      #expect(try broker.stored().names == ["Good"])
      let status = try Program.run(["status", "--bus", broker.bus])
      #expect(status.status == .exited(0), "\(status.errors)")
      #expect(status.output.contains("frame"), "the reasons are named: \(status.output)")
    }

    @Test func `a reader that has stopped does not slow the others and loses nothing`() throws {
      let broker = try TestBroker()
      let stopped = try broker.tail(["--count", "100000", "--template", "{messageId}"])
      stopped.signal(SIGSTOP)
      let other = try broker.tail(["--count", "100000", "--template", "{messageId}"])
      let folder = try TemporaryFolder()
      let file = folder.file("load.ndjson")
      try EventLine.load(0..<100_000).write(toFile: file, atomically: true, encoding: .utf8)
      let run = try broker.publish([file])
      #expect(run.status == .exited(0), "\(run.errors)")
      #expect(other.wait(.seconds(30)) == .exited(0))
      stopped.signal(SIGCONT)
      #expect(stopped.wait(.seconds(60)) == .exited(0), "\(stopped.errorOutput.text)")
      #expect(stopped.output.waitForEnd() == other.output.waitForEnd())
    }
  }
}
