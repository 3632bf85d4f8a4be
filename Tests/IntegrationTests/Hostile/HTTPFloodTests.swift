import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Clients of the HTTP ports that hold, drip and swell. Whoever behaves is served meanwhile.
  @Suite(.enabled(if: HostilePeer.isThere, "needs python3"))
  struct HTTPFloodTests {
    @Test func `when all connections are taken, who does not move on makes room, and it is told`()
      throws
    {
      let broker = try TestBroker()
      let collector = try TestCollector(
        broker,
        ["--write-key", TestCollector.key, "--connections", "40", "--client-timeout", "6s"]
      )
      let peer = try HostilePeer(
        """
        head = b'POST /v1/batch HTTP/1.1\\r\\nHost: t\\r\\nContent-Le'
        held = []
        for number in range(120):
            peer = tcp(sys.argv[1]); held.append(peer)
            try: peer.sendall(head)
            except OSError: pass
        say('held', len(held))
        # Drips on, and comes again when it is cut.
        while not select.select([sys.stdin], [], [], 0.5)[0]:
            for number, peer in enumerate(held):
                try: peer.sendall(b'x')
                except OSError:
                    peer.close()
                    try: held[number] = tcp(sys.argv[1], 0.2); held[number].sendall(head)
                    except OSError: pass
        """, [collector.port])
      _ = try peer.line("held")
      for number in 0..<3 {
        let isStored = try waitUntil {
          do {
            return try collector.post(batch: [EventLine.track("A", id: "h-\(number)")]).codes
              == ["STORED"]
          } catch is SystemError { return false } catch is ConnectionEnded { return false }
        }
        #expect(isStored, "\(number): \(collector.process.errorOutput.text)")
      }
      let isTold = collector.process.errorOutput.waitForLine {
        $0.contains("all connections are taken")
      }
      #expect(isTold != nil, "\(collector.process.errorOutput.text)")
      #expect(try #require(try collector.metric("eventbus_collector_full_total")) > 0)
      #expect(try #require(try collector.metric("eventbus_collector_crowded_out_total")) > 0)
      peer.end()
      let lines = collector.process.errorOutput.lines
      #expect(lines.count { $0.contains("all connections are taken") } == 1, "\(lines)")
      #expect(Set(try broker.stored().messageIDs) == Set((0..<3).map { "h-\($0)" }))
    }

    @Test func `bombs, endless heads and broken chunks are refused within bounded memory`() throws {
      let broker = try TestBroker()
      let collector = try TestCollector(broker)
      #expect(try collector.post(batch: [EventLine.track("A", id: "first")]).codes == ["STORED"])
      let before = collector.process.residentKiB
      let peer = try HostilePeer(
        """
        port, basic = sys.argv[1], b'Authorization: Basic dGVzdC1rZXk6\\r\\n'
        def packed(size, members=1):
            squeezer = zlib.compressobj(9, zlib.DEFLATED, 31)
            member = b''.join(squeezer.compress(b' ' * (1 << 20)) for piece in range(size >> 20)) + squeezer.flush()
            return member * members
        def post(body, headers=b''):
            return b'POST /v1/batch HTTP/1.1\\r\\nHost: t\\r\\n' + basic + headers + b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body
        chunked = b'POST /v1/batch HTTP/1.1\\r\\nHost: t\\r\\n' + basic + b'Transfer-Encoding: chunked\\r\\n\\r\\n'
        gzip = b'Content-Encoding: gzip\\r\\n'
        bomb, many = packed(64 << 20), packed(1 << 20, 200)
        attacks = {
            'bomb': post(bomb, gzip), 'members': post(many, gzip), 'twice': post(zlib.compress(bomb), gzip),
            'cut': post(bomb[:1000], gzip), 'no gzip': post(b'x' * 1000, gzip),
            'header': b'GET / HTTP/1.1\\r\\nX: ' + b'x' * (4 << 20),
            'headers': b'GET / HTTP/1.1\\r\\n' + b'X: y\\r\\n' * (1 << 19),
            'line': b'GET /' + b'x' * (4 << 20), 'no line': b'x' * (4 << 20), 'blank': b'\\r\\n' * (1 << 20),
            'query': b'GET /?' + b'a=b&' * 200000, 'cookies': b'GET / HTTP/1.1\\r\\nCookie: ' + b'a=b; ' * 200000,
            'chunk': chunked + b'FFFFFFFFFFFFFFFFF\\r\\nx', 'minus': chunked + b'-1\\r\\nx\\r\\n',
            'extension': chunked + b'1;' + b'x' * (4 << 20), 'tiny': chunked + b'1\\r\\n \\r\\n' * 300000,
            'trailers': chunked + b'0\\r\\n' + b'X: y\\r\\n' * (1 << 19), 'no end': chunked + b'1000\\r\\n' + b' ' * (12 << 20),
            'length': b'POST /v1/batch HTTP/1.1\\r\\nContent-Length: 99999999999999999999\\r\\n\\r\\n',
            'two lengths': b'POST /v1/batch HTTP/1.1\\r\\nContent-Length: 1\\r\\nContent-Length: 2\\r\\n\\r\\nxx',
            'http/2': b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n', 'tls': b'\\x16\\x03\\x01\\x02\\0\\x01\\0\\x01\\xfc\\x03\\x03' + os.urandom(500),
            'upgrade': b'GET / HTTP/1.1\\r\\nHost: t\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n',
            'expect': b'POST /v1/batch HTTP/1.1\\r\\nHost: t\\r\\nExpect: 100-continue\\r\\nContent-Length: 1000000000\\r\\n\\r\\n',
            'nesting': post(b'{"batch":' + b'[' * 3000000),
            'pipeline': (b'GET /v1/x HTTP/1.1\\r\\nHost: t\\r\\n\\r\\n') * 50000,
        }
        for again in range(2):
            held = []
            for name, attack in attacks.items():
                peer = tcp(port); held.append(peer)
                peer.setblocking(False)
                left, end = memoryview(attack), time.monotonic() + 3
                while left and time.monotonic() < end:
                    try:
                        if select.select([], [peer], [], 0.1)[1]: left = left[peer.send(left):]
                    except OSError: break
                statuses = set()
                while select.select([peer], [], [], 0.1)[0]:
                    try: answer = peer.recv(1 << 20)
                    except OSError: break
                    if not answer: break
                    statuses |= {line.split()[1].decode() for line in answer.split(b'\\r\\n') if line.startswith(b'HTTP/1.1 ')}
                    if statuses and name != 'pipeline': break
                say(name.replace(' ', '-'), ','.join(sorted(statuses)) or '-')
        say('done')
        hold()
        """, [collector.port])
      var peak = 0
      var number = 0
      while !peer.process.output.text.contains("done\n"), peer.process.ended() == nil {
        peak = max(peak, collector.process.residentKiB)
        let answer = try collector.post(batch: [EventLine.track("A", id: "h-\(number)")])
        #expect(answer.codes == ["STORED"], "\(answer)")
        number += 1
      }
      _ = try peer.line("done")
      peer.end()
      for line in peer.process.output.lines.dropLast() {
        let words = line.split(separator: " ")
        let statuses = words.last?.split(separator: ",") ?? []
        // Cut without a word, asked to go on, or refused.
        #expect(statuses.allSatisfy { $0 == "-" || $0 == "100" || $0 >= "400" }, "\(line)")
      }
      #expect(
        peak < before + (160 << 10) || Sanitizer.excusesMemory(), "\(before) to \(peak) KiB")
      #expect(collector.process.ended() == nil)
      let expected = Set(["first"] + (0..<number).map { "h-\($0)" })
      #expect(Set(try broker.stored().messageIDs) == expected)
      #expect(try #require(try collector.metric("eventbus_collector_too_large_total")) > 0)
    }

    @Test func `who holds every connection of the metrics does not keep others from asking`() throws
    {
      let broker = try TestBroker()
      let metrics = try #require(broker.addresses["metrics"]?.split(separator: ":").last)
      let peer = try HostilePeer(
        """
        held = []
        for number in range(64):
            peer = tcp(sys.argv[1]); held.append(peer)
            if number % 2: peer.sendall(b'GET /metr')
        say('held', len(held))
        hold()
        """, [metrics])
      _ = try peer.line("held")
      let isAnswered = try waitUntil(.seconds(60)) {
        do {
          return try broker.metric("eventbus_broker_epoch") != nil
        } catch is SystemError { return false } catch is ConnectionEnded { return false }
      }
      #expect(isAnswered)
      let isTold = broker.process.errorOutput.waitForLine {
        $0.contains("all connections are taken")
      }
      #expect(isTold != nil, "\(broker.process.errorOutput.text)")
      peer.end()
      #expect(try broker.isUp())
    }

    @Test func `pages that read nothing and guesses of the token harm nobody who may look`() throws
    {
      let broker = try TestBroker()
      let token = "the-token-of-this-test"
      let aggregator = try TestAggregator(broker.bus, ["--token", token])
      let bearer = ["Authorization": "Bearer \(token)"]
      #expect(try aggregator.response("/api/reports", bearer).status == "200")
      let before = aggregator.process.residentKiB
      let port = try #require(aggregator.url.split(separator: ":").last)
      let peer = try HostilePeer(
        """
        port, token = sys.argv[1], sys.argv[2].encode()
        def ask(path, headers=b'', method=b'GET', body=b''):
            return method + b' ' + path + b' HTTP/1.1\\r\\nHost: t\\r\\n' + headers + b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body
        # Streams that nobody reads, more than there may be.
        held = []
        for number in range(60):
            peer = tcp(port); held.append(peer)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            peer.sendall(ask(b'/api/live', b'Authorization: Bearer ' + token + b'\\r\\n'))
        say('streams')
        denied = 0
        for number in range(500):
            guess = os.urandom(chance.randrange(40)).hex().encode()
            peer = tcp(port)
            peer.sendall(chance.choice([
                ask(b'/api/reports', b'Authorization: Bearer ' + guess + b'\\r\\n'),
                ask(b'/api/live', b'Cookie: eventbus-' + port.encode() + b'=' + guess + b'\\r\\n'),
                ask(b'/login', b'', b'POST', b'token=' + guess), ask(b'/api/reports/x', b'Authorization: Basic ' + guess + b'\\r\\n'),
            ]))
            answer = peer.recv(4096)
            denied += answer.startswith((b'HTTP/1.1 401', b'HTTP/1.1 303')) and b'Set-Cookie' not in answer
        say('denied', denied)
        hold()
        """, [port, token])
      _ = try peer.line("streams")
      #expect(try aggregator.response("/api/reports", bearer).status == "200")
      #expect(try peer.line("denied") == "denied 500")
      #expect(try broker.isUp())
      #expect(try aggregator.response("/api/health", bearer).status == "200")
      let metrics = try aggregator.get("/metrics", bearer)
      let refused = try #require(
        metrics.split(separator: "\n").first {
          $0.hasPrefix("eventbus_aggregator_page_streams_refused_total ")
        })
      #expect(Int(refused.split(separator: " ")[1]) ?? 0 >= 28, "\(refused)")
      #expect(metrics.contains("\neventbus_aggregator_page_denied_total 500\n"), "\(metrics)")
      let after = aggregator.process.residentKiB
      #expect(
        after < before + (64 << 10) || Sanitizer.excusesMemory(), "\(before) to \(after) KiB")
      peer.end()
    }
  }
}
