module.exports = require('../../support/jestSuite.cjs')(__dirname, 180_000);
