/// What people change in their profiles.
public struct ProfileAnalyticalRegistry: Sendable {
  private let analytics: any AnalyticsEventSending

  public init(_ analytics: any AnalyticsEventSending) { self.analytics = analytics }

  public func avatarChanged() { analytics.send(EventType.AvatarChanged()) }

  /// One event for a profile that was saved, with which of its fields changed.
  public func profileFieldsChanged(
    firstName: Bool = false, lastName: Bool = false, emailAddress: Bool = false, bio: Bool = false
  ) {
    analytics.send(
      EventType.ProfileFields(
        firstNameChanged: firstName, lastNameChanged: lastName, emailAddressChanged: emailAddress,
        bioChanged: bio))
  }
}

extension EventType {
  public struct AvatarChanged: PublishableEvent, Hashable {
    public static let eventType: EventType = "Avatar Changed"

    public init() {}
  }

  public struct ProfileFields: PublishableEvent, Hashable {
    public static let eventType: EventType = "Profile Fields"
    public var firstNameChanged: Bool
    public var lastNameChanged: Bool
    public var emailAddressChanged: Bool
    public var bioChanged: Bool

    public init(
      firstNameChanged: Bool, lastNameChanged: Bool, emailAddressChanged: Bool, bioChanged: Bool
    ) {
      self.firstNameChanged = firstNameChanged
      self.lastNameChanged = lastNameChanged
      self.emailAddressChanged = emailAddressChanged
      self.bioChanged = bioChanged
    }

    /// How many fields changed.
    public var totalFieldsChanged: Int {
      [firstNameChanged, lastNameChanged, emailAddressChanged, bioChanged].count(where: \.self)
    }

    public func encodeProperties(into writer: inout PropertyWriter) {
      writer.write("First Name Changed", firstNameChanged)
      writer.write("Last Name Changed", lastNameChanged)
      writer.write("Email Address Changed", emailAddressChanged)
      writer.write("Bio Changed", bioChanged)
      writer.write("Total Fields Changed", totalFieldsChanged)
    }
  }
}
