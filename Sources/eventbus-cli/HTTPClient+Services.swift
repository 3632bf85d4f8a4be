import EventCodec
import EventModel
import HTTPClient

// Asking the services of this machine how they are.
extension HTTPClientConfiguration {
  /// For services of this machine: one that does not answer costs at most `limit`.
  static func services(within limit: Duration) -> HTTPClientConfiguration {
    var configuration = HTTPClientConfiguration()
    configuration.connectLimit = .seconds(1)
    configuration.totalLimit = limit
    configuration.keptBodyBytes = 256 << 10
    configuration.readBodyBytes = 256 << 10
    return configuration
  }
}

extension HTTPClient {
  /// GET of all addresses at once, so that the slowest decides; the answers in their order.
  mutating func get(_ addresses: [String]) -> [Result<HTTPReply, HTTPFailure>] {
    var answers: [Result<HTTPReply, HTTPFailure>?] = []
    var places: [CallID: Int] = [:]
    for (place, address) in addresses.enumerated() {
      do throws(HTTPFailure) {
        places[try start(HTTPCall(address, method: "GET"))] = place
        answers.append(nil)
      } catch { answers.append(.failure(error)) }
    }
    while !places.isEmpty {
      for ended in wait(.seconds(3)) {
        if let place = places.removeValue(forKey: ended.id) { answers[place] = ended.result }
      }
    }
    return answers.compactMap { $0 }
  }
}

extension HTTPReply {
  /// What a `/status` says; nil for a body that is no JSON object.
  var statusObject: PropertyObject? {
    do throws(CodecError) {
      return try unsafe PropertyValue(json: body.span.bytes).objectValue
    } catch { return nil }
  }
}
