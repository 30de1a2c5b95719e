// Loads ES modules without transforms.
export default { testEnvironment: 'node', transform: {} }
