module.exports = {
	...require('../../support/jestSuite.cjs')(__dirname, 300_000),
	reporters: [['default', { summaryThreshold: 0 }]],
};
