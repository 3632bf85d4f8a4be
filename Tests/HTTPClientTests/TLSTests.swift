internal import Foundation
internal import HTTPClient
internal import Primitives
internal import TestSupport
internal import Testing

/// Against `openssl s_server` with a certificate made for the occasion.
@Suite(.timeLimit(.minutes(5)), .enabled(if: TLSServer.hasOpenSSL, "openssl is not installed"))
struct TLSTests {
  @Test func `a certificate that nobody vouches for is refused, and taken when its file is given`()
    throws
  {
    let server = try TLSServer()
    let call = HTTPCall("https://localhost:\(server.port)/", method: "GET")
    let failure = try Caller().failure(call)
    #expect(failure.kind == .tls)
    #expect(failure.text.contains("not trusted"), "\(failure)")
    #expect(!failure.mayHaveArrived)
    var configuration = HTTPClientConfiguration()
    configuration.certificateFile = server.certificate
    #expect(try Caller(configuration).reply(call).status == 200)
  }

  @Test func `a certificate of another host is refused`() throws {
    let server = try TLSServer()
    var configuration = HTTPClientConfiguration()
    configuration.certificateFile = server.certificate
    let failure = try Caller(configuration).failure(
      HTTPCall("https://127.0.0.1:\(server.port)/", method: "GET"))
    #expect(failure.kind == .tls)
  }

  @Test func `a file of certificates that is not there is named`() throws {
    let server = try TLSServer()
    var configuration = HTTPClientConfiguration()
    configuration.certificateFile = "/nowhere/ca.pem"
    let failure = try Caller(configuration).failure(
      HTTPCall("https://localhost:\(server.port)/", method: "GET"))
    #expect(failure.kind == .tls)
    #expect(failure.text.contains("/nowhere/ca.pem"), "\(failure)")
  }
}

final class TLSServer {
  static let hasOpenSSL =
    (try? ChildProcess.run("openssl", ["version"]).status) == .exited(0)

  let folder: TemporaryFolder
  let process: ChildProcess
  let port: Int
  var certificate: String { folder.file("certificate.pem") }

  init() throws {
    folder = try TemporaryFolder()
    let made = try ChildProcess.run(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        "-keyout", folder.file("key.pem"), "-out", folder.file("certificate.pem"),
      ])
    try #require(made.status == .exited(0), "\(String(decoding: made.errorOutput, as: UTF8.self))")
    // Port 0: the system chooses, and openssl says which.
    process = try ChildProcess(
      "openssl",
      [
        "s_server", "-accept", "localhost:0", "-www", "-cert", folder.file("certificate.pem"),
        "-key", folder.file("key.pem"),
      ])
    let line = try #require(process.output.waitForLine { $0.hasPrefix("ACCEPT ") })
    port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
  }
}
