import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Ports are open to whatever finds them.
  @Suite struct GarbageTests {
    /// For each port 200 connections, half of which stay open and say no more.
    private static let program = """
      import os, random, socket, sys
      source = random.Random(7)
      garbage = [b'GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n', b'\\xff' + b'\\0' * 8 + b'\\x7f\\x03\\x00NULL',
          bytes(source.randrange(256) for _ in range(4096)), b'hello\\r\\nquit\\r\\n', b'\\xff\\0\\0', b'']
      for name in os.environ['INPUTS'].split(':'):
          if name: garbage.append(open(name, 'rb').read())
      held = []
      for port in sys.argv[1:]:
          for number in range(200):
              peer = socket.create_connection(('127.0.0.1', int(port)))
              try: peer.sendall(garbage[number % len(garbage)])
              except OSError: pass
              if number % 2: held.append(peer)
              else: peer.close()
      print('ready', len(held), flush=True)
      sys.stdin.read()
      """

    @Test func `garbage on every port harms nothing and its connections are cut`() throws {
      let broker = try TestBroker()
      #expect(try broker.isUp())
      try #require(waitUntil { broker.openFiles > 0 })
      let before = broker.openFiles
      let ports = try ["bus", "live", "publish", "push"].map { "\(try broker.port($0))" }
      let inputs = ["B09a.bin", "B09b.bin", "B09c.bin", "B09d.bin", "B09e.bin"]
        .compactMap { Inputs.path($0) }
      let peers = try ChildProcess(
        "/usr/bin/python3", ["-c", Self.program] + ports,
        environment: ["INPUTS": inputs.joined(separator: ":")])
      try #require(
        peers.output.waitForLine(.seconds(60)) { $0 == "ready 400" } != nil,
        "\(peers.errorOutput.text)")
      #expect(try broker.isUp(), "while connections are held")
      // Those that are held end too: whoever does not finish the handshake is cut.
      #expect(waitUntil(.seconds(60)) { broker.openFiles <= before + 8 }, "\(broker.openFiles)")
      peers.closeInput()
      #expect(peers.wait() == .exited(0))
      #expect(try broker.isUp())
      #expect(broker.process.ended() == nil)
      #expect(!broker.process.errorOutput.text.contains("Fatal error"))
    }
  }
}
