internal import Synchronization
internal import Testing

@testable internal import Collector

@Suite struct InDoubtTests {
  private let inDoubt = InDoubt<String>(limit: 4)
  private let heard = Heard()

  private final class Heard: Sendable {
    let receipts = Mutex<[String?]>([])
    func take(_ receipt: String?) { receipts.withLock { $0.append(receipt) } }
    var all: [String?] { receipts.withLock { $0 } }
  }

  @Test func `a second request joins the first, and both hear the same`() {
    let heard = heard
    #expect(inDoubt.begin(1) { heard.take($0) })
    #expect(!inDoubt.begin(1) { heard.take($0) })
    #expect(inDoubt.begin(2) { heard.take($0) })
    inDoubt.finish(1, "stored", wasTold: true, at: 0)
    #expect(heard.all == ["stored"])
  }

  @Test func `who was not told is answered from what is known, for its time`() {
    #expect(inDoubt.begin(1) { _ in })
    #expect(inDoubt.receipt(of: 1, at: 0) == nil)
    inDoubt.finish(1, "stored", wasTold: false, at: 5)
    #expect(inDoubt.receipt(of: 1, at: 4 + InDoubt<String>.life) == "stored")
    #expect(inDoubt.receipt(of: 1, at: 5 + InDoubt<String>.life) == nil)
  }

  @Test func `what was told, or not stored, is begun anew`() {
    let heard = heard
    #expect(inDoubt.begin(1) { _ in })
    inDoubt.finish(1, "stored", wasTold: true, at: 0)
    #expect(inDoubt.receipt(of: 1, at: 0) == nil)
    #expect(inDoubt.begin(1) { _ in })
    #expect(!inDoubt.begin(1) { heard.take($0) })
    inDoubt.finish(1, nil, wasTold: false, at: 0)
    #expect(heard.all == [nil])
    #expect(inDoubt.begin(1) { _ in })
  }

  @Test func `the oldest are forgotten at the bound`() {
    for key in 0..<UInt64(20) {
      #expect(inDoubt.begin(key) { _ in })
      inDoubt.finish(key, "stored", wasTold: false, at: 0)
    }
    let known = (0..<UInt64(20)).filter { inDoubt.receipt(of: $0, at: 0) != nil }
    #expect(known.count <= 4 && known.last == 19 && known == Array(known[0]...19))
  }
}
