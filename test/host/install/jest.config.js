module.exports = require('../../support/jestSuite.cjs')(__dirname, 120_000);
