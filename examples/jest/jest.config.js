// Only for msw: it depends on packages that are ES modules, which jest has to compile.
module.exports = {
  transform: { '\\.m?js$': ['babel-jest', { plugins: ['@babel/plugin-transform-modules-commonjs'] }] },
  transformIgnorePatterns: ['/node_modules/(?!(@open-draft|rettime|until-async)/)'],
}
