// Must not type-check: a trigger that does not exist, and an event that is none.
import AnalyticsUI
import SwiftUI

struct WrongScreen: View {
  @Environment(\.analytics) var analytics

  var body: some View {
    Text("Post").track(.onHover, with: analytics) { "Post Opened" }
  }
}
