module.exports = require('../../support/jestSuite.cjs')(__dirname, 60_000);
