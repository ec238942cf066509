module github.com/kafkadouble/kafkadouble/helpers/go

go 1.24.0
