// ES modules as they are: nothing is transformed.
export default { testEnvironment: 'node', transform: {} }
