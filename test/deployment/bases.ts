/** The least that a deployment needs. */
export const bases = {
  onboardingBaseUrl: 'https://onboarding.example',
  stagingUrl: 'https://staging.example',
  messengerBaseUrl: 'https://messenger.example',
};
