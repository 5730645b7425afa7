/** n8n loads the files named in package.json; this is the same list for everything else. */
const { DigitalSalesApi } = require('./dist/credentials/DigitalSalesApi.credentials.js');
const { DigitalSales } = require('./dist/nodes/DigitalSales/DigitalSales.node.js');
const { DigitalSalesTrigger } = require('./dist/nodes/DigitalSales/DigitalSalesTrigger.node.js');

module.exports = { DigitalSales, DigitalSalesApi, DigitalSalesTrigger };
