module handoversim

go 1.19
