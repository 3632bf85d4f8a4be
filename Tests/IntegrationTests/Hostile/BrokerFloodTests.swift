import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Peers that take more of the bus than anybody needs. Whoever behaves is served meanwhile.
  @Suite(.enabled(if: HostilePeer.isThere, "needs python3"))
  struct BrokerFloodTests {
    /// A name followed on the live feed, and the events that the follower has got.
    private final class LiveFollower {
      let tail: ChildProcess
      private let broker: TestBroker

      init(_ broker: TestBroker) throws {
        self.broker = broker
        tail = try ChildProcess(
          Program.path,
          [
            "tail", "--bus", broker.bus, "--live", "--ready", "--exact", "Still There",
            "--template", "got {event}",
          ])
        try #require(
          tail.errorOutput.waitForLine { $0.hasPrefix("ready") } != nil,
          "\(tail.errorOutput.text)")
      }

      /// An event that is published now comes.
      func getsEvents() throws -> Bool {
        let before = tail.output.lines.count
        return try waitUntil(.seconds(60)) {
          guard try broker.isUp() else { return false }
          return tail.output.lines.count > before
        }
      }
    }

    @Test func `a million subscriptions cost bounded memory, and others get their events`() throws {
      let broker = try TestBroker()
      let follower = try LiveFollower(broker)
      #expect(try follower.getsEvents())
      let before = broker.memory
      let peer = try HostilePeer(
        """
        sent = 0
        for attempt in range(5):
            try:
                peer = zmtp(sys.argv[1], 'SUB')
                for block in range(200):
                    topics = os.urandom(200 * 1000)
                    peer.sendall(b''.join(frame(b'\\1' + topics[n:n + 200]) for n in range(0, len(topics), 200)))
                    sent += 1000
                # Broken off while much waits to be read, which must not end libzmq.
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); peer.close()
            except OSError: pass
        say('sent', sent)
        hold()
        """, [try broker.port("live")])
      var peak = 0
      while peer.process.output.lines.isEmpty, peer.process.ended() == nil {
        peak = max(peak, broker.memory)
        #expect(try broker.isUp(), "\(broker.process.errorOutput.text)")
      }
      let told = try peer.line("s")
      #expect(told.hasPrefix("sent "), "\(told)")
      // In the kernel's buffers is more than the broker ever saw.
      #expect(Int(told.dropFirst(5)) ?? 1_000_000 < 1_000_000, "\(told)")
      // Kept without a bound they would cost six times as much, and stay. How far it gets before it is cut
      // is a matter of who has the processor.
      #expect(
        Sanitizer.excusesMemory()
          || peak < before + (1 << 20)
            && waitUntil(.seconds(60)) { broker.memory < before + (96 << 10) },
        "\(before) to \(peak), then \(broker.memory) KiB")
      try #require(broker.process.ended() == nil, "\(broker.process.errorOutput.text)")
      #expect(try follower.getsEvents())
      peer.end()
      let isTold = broker.process.errorOutput.waitForLine {
        $0.contains("ended live connections that subscribed to too much")
      }
      #expect(isTold != nil, "\(broker.process.errorOutput.text)")
      #expect(
        try #require(try broker.metric("eventbus_broker_live_refused_subscriptions_total")) > 0)
    }

    @Test
    func `floods that come again and again cost bounded memory, and a new subscriber is served`()
      throws
    {
      let broker = try TestBroker()
      #expect(try broker.isUp())
      let before = broker.memory
      let peer = try HostilePeer(
        """
        import threading
        made, is_over = [], threading.Event()
        def flood():
            while not is_over.is_set():
                try:
                    peer = zmtp(sys.argv[1], 'SUB', 2)
                    made.append(peer)
                    for block in range(100):
                        topics = os.urandom(200 * 500)
                        peer.sendall(b''.join(frame(b'\\1' + topics[n:n + 200]) for n in range(0, len(topics), 200)))
                # Cut off, or made to wait.
                except OSError: pass
                del made[:-60]
        floods = [threading.Thread(target=flood) for number in range(4)]
        for each in floods: each.start()
        while len(made) < 20: time.sleep(0.01)
        say('floods')
        hold()
        is_over.set()
        for each in floods: each.join()
        """, [try broker.port("live")])
      _ = try peer.line("floods")
      let follower = try LiveFollower(broker)
      #expect(try follower.getsEvents())
      let after = broker.memory
      #expect(
        after < before + (256 << 10) || Sanitizer.excusesMemory(), "\(before) to \(after) KiB")
      peer.end()
      #expect(try follower.getsEvents())
    }

    @Test func `who takes all room for subscriptions keeps nobody out`() throws {
      let broker = try TestBroker()
      #expect(try broker.isUp())
      let peer = try HostilePeer(
        """
        held = []
        for number in range(5):
            peer = zmtp(sys.argv[1], 'SUB')
            held.append(peer)
            # In pieces that the broker keeps up with; the head beacon of a topic says that all before it was read.
            for block in range(48):
                topics = os.urandom(100 * 100)
                peer.sendall(b''.join(frame(b'\\1' + topics[n:n + 100]) for n in range(0, len(topics), 100)))
                name = b'$HEAD/%d-%d\\0' % (number, block)
                peer.sendall(frame(b'\\1' + name))
                try: exactly(peer, len(name))
                except OSError: break
        say('full')
        hold()
        """, [try broker.port("live")])
      _ = try peer.line("full")
      let follower = try LiveFollower(broker)
      #expect(try follower.getsEvents())
      let refused = "eventbus_broker_live_refused_subscriptions_total"
      #expect(try waitUntil { try broker.metric(refused) ?? 0 > 0 })
      peer.end()
    }

    @Test func `nobody can end another's subscription`() throws {
      let broker = try TestBroker()
      let follower = try LiveFollower(broker)
      #expect(try follower.getsEvents())
      let peer = try HostilePeer(
        """
        peer = zmtp(sys.argv[1], 'SUB')
        for name in (b'Still There\\0', b'$HEAD/Still There\\0', b'', b'S'):
            for again in range(3): peer.sendall(frame(b'\\0' + name))
        # A topic of its own, and then the head beacon of it, say that all before it was read.
        peer.sendall(frame(b'\\1$HEAD/Z\\0'))
        exactly(peer, 8)
        say('done')
        hold()
        """, [try broker.port("live")])
      _ = try peer.line("done")
      #expect(try follower.getsEvents())
      peer.end()
      #expect(try follower.getsEvents())
    }

    @Test func `messages and topics of eight megabytes end their connection, and cost nothing`()
      throws
    {
      let broker = try TestBroker()
      #expect(try broker.isUp())
      let before = broker.memory
      let ports = try ["bus", "live", "publish", "push"].map { try broker.port($0) }
      let peer = try HostilePeer(
        """
        kinds = ['DEALER', 'SUB', 'PUB', 'PUSH']
        held = []
        for again in range(8):
            for port, kind in zip(sys.argv[1:], kinds):
                peer = zmtp(port, kind); held.append(peer)
                # Frames of a name first, where there are two.
                if kind in ('PUB', 'PUSH'): peer.sendall(frame(b'Name', 1))
                try:
                    peer.sendall(struct.pack('>BQ', 2, 8 << 20))
                    for piece in range(128): peer.sendall(b'\\1' * 65536)
                except OSError: pass
        say('cut', sum(is_cut(peer, 20) for peer in held))
        """, ports)
      #expect(try peer.line("cut") == "cut 32")
      peer.end()
      #expect(try broker.isUp())
      #expect(
        broker.memory < before + (64 << 10) || Sanitizer.excusesMemory(),
        "\(before) to \(broker.memory) KiB")
    }

    @Test func `handshakes that drip are cut, and sockets of the wrong kind do no harm`() throws {
      let broker = try TestBroker()
      #expect(try broker.isUp())
      let before = broker.openFiles
      let ports = try ["bus", "live", "publish", "push"].map { try broker.port($0) }
      let peer = try HostilePeer(
        """
        greeting = b'\\xff' + b'\\0' * 8 + b'\\x7f\\x03\\0NULL' + b'\\0' * 48
        drips = [tcp(port) for port in sys.argv[1:] for number in range(25)]
        open, start = set(drips), time.monotonic()
        for at in range(0, 64):
            for peer in list(open):
                try: peer.sendall(greeting[at:at + 1])
                except OSError: open.discard(peer)
            if time.monotonic() > start + 12 or not open: break
            time.sleep(0.15)
        say('dripped', sum(is_cut(peer, 5) for peer in drips))
        kinds = ['PAIR', 'PUB', 'SUB', 'REQ', 'REP', 'DEALER', 'ROUTER', 'PULL', 'PUSH', 'XPUB', 'XSUB', 'CLIENT', '', 'X' * 200]
        held = []
        for port in sys.argv[1:]:
            for kind in kinds:
                try:
                    peer = zmtp(port, kind); held.append(peer)
                    for frames in ([b''], [b'A'], [b'A', b'{}'], [b'', b'', b'A'], [b'\\1A'], [b'\\0A'], [os.urandom(300)]):
                        peer.sendall(b''.join(frame(f, 1 if n + 1 < len(frames) else 0) for n, f in enumerate(frames)))
                    peer.sendall(frame(b'\\x04PING\\0\\x0a', 4) + frame(b'\\x05ERROR\\x01x', 4) + frame(b'\\xffNONE', 4))
                except OSError: pass
        say('tried', len(sys.argv[1:]) * len(kinds))
        hold()
        """, ports)
      #expect(try peer.line("dripped") == "dripped 100")
      #expect(try peer.line("tried") == "tried 56")
      #expect(try broker.isUp())
      #expect(try LiveFollower(broker).getsEvents())
      peer.end()
      #expect(waitUntil(.seconds(60)) { broker.openFiles <= before + 8 }, "\(broker.openFiles)")
      // Of all that only `A` with an object is an event.
      #expect(Set(try broker.stored().names).isSubset(of: ["Still There", "A"]))
    }

    @Test func `connections that use up all files stop neither the journal nor who is connected`()
      throws
    {
      let broker = try TestBroker(["--segment-bytes", "64KiB"], openFiles: 320)
      let publisher = try ChildProcess(
        Program.path,
        ["publish", "--bus", broker.bus, "--count", "1000000", "--rate", "1000", "--size", "300"])
      #expect(waitUntil { broker.segments > 1 })
      let peer = try HostilePeer(
        """
        # They answer no heartbeat, so they are cut after a while, and others come.
        held, isFull = [], False
        while not select.select([sys.stdin], [], [], 0)[0]:
            at = len(held) % 4
            try: held.append(zmtp(sys.argv[1 + at], ['SUB', 'DEALER', 'PUB', 'PUSH'][at], 0.3))
            except OSError:
                if not isFull: say('full', len(held))
                isFull = True
                del held[:-600]
        """, try ["live", "bus", "publish", "push"].map { try broker.port($0) })
      _ = try peer.line("full")
      let isTold = broker.process.errorOutput.waitForLine(.seconds(60)) {
        $0.contains("files are open")
      }
      #expect(isTold != nil, "\(broker.process.errorOutput.text)")
      let flooded = broker.segments
      #expect(waitUntil(.seconds(60)) { broker.segments > flooded + 2 }, "\(broker.segments)")
      #expect(publisher.ended() == nil, "\(publisher.errorOutput.text)")
      peer.end()
      #expect(try waitUntil(.seconds(60)) { try broker.isUp() })
      publisher.signal(SIGKILL)
      publisher.wait()
      #expect(broker.process.ended() == nil)
    }
  }
}
