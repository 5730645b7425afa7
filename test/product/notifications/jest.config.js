module.exports = require('../../support/jestSuite.cjs')(__dirname, 300_000);
