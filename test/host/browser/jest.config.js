module.exports = require('../../support/jestSuite.cjs')(__dirname, 90_000);
